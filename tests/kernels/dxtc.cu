// Compression of a picture to DXT1: a thread block makes 4 x 4 pixels two end colours of 16 bits, and a number of two bits for each
// pixel: one of the ends or one of two colours between them. It sorts the pixels along the axis of their colours, by counting. Then
// its threads try all partitions of the sorted pixels in four parts: they solve for the two ends that suit the partition best, round
// them, and compute the error. A tree over shared memory finds the least one. Few threads have work at the beginning and at the end.
// After dxtc of the CUDA SDK: hierarchy thesis table 4.2.
typedef unsigned int uint;

constexpr int SIDE = 4;
constexpr int PIXELS = SIDE * SIDE;
constexpr int THREADS = 64;
// Products of two of three channels.
constexpr int PRODUCTS = 6;
constexpr int ROUNDS = 8;

struct Colour {
    float red, green, blue;
};

// An end's value of a channel, rounded to so many bits.
__device__ inline uint rounded(float value, float most)
{
    return __float2uint_rn(__saturatef(value) * most);
}

// As a float from 0 to 1 that a decoder makes of it: its upper bits again below it.
__device__ inline float decoded(uint value, int bits)
{
    return (float)((value << (8 - bits)) | (value >> (2 * bits - 8))) * (1.0f / 255.0f);
}

// Two ends whose weights have these sums of squares and products. `a` and `b` are sums of the pixels with the weights of each end.
// Nine times the squared error, less what all ends have.
__device__ inline float error(float a, float b, float aa, float ab, float bb, float start, float end)
{
    float squares = fmaf(aa * start, start, fmaf(bb * end, end, 2.0f * ab * start * end));
    return fmaf(-6.0f, fmaf(a, start, b * end), squares);
}

// `partitions`: for each pixel in their order the weight of the first end in thirds, two bits, the first pixel in the lowest. The
// outer parts, with weights 3 and 0, are not empty, so that there is always a solution.
__global__ void compress(uint2 *out, const uint *picture, const uint *partitions, int count, int width)
{
    __shared__ float colour[3][PIXELS];
    __shared__ float mean[3];
    __shared__ float covariance[PRODUCTS];
    __shared__ float place[PIXELS];
    __shared__ int rank[PIXELS];
    __shared__ float4 sorted[PIXELS];
    __shared__ float least[THREADS];
    __shared__ uint best[THREADS];
    __shared__ uint ends[THREADS];

    int thread = threadIdx.x;
    if (thread < PIXELS) {
        uint pixel = picture[(blockIdx.y * SIDE + thread / SIDE) * width + blockIdx.x * SIDE + thread % SIDE];
        for (int channel = 0; channel < 3; ++channel)
            colour[channel][thread] = (float)((pixel >> (8 * channel)) & 0xff) * (1.0f / 255.0f);
    }
    __syncthreads();

    if (thread < 3) {
        float sum = 0.0f;
        for (int i = 0; i < PIXELS; ++i)
            sum += colour[thread][i];
        mean[thread] = sum * (1.0f / PIXELS);
    }
    __syncthreads();
    if (thread < PRODUCTS) {
        // The products of channels 00, 01, 02, 11, 12, 22.
        int first = thread < 3 ? 0 : thread < 5 ? 1 : 2;
        int second = thread < 3 ? thread : thread < 5 ? thread - 2 : 2;
        float sum = 0.0f;
        for (int i = 0; i < PIXELS; ++i)
            sum = fmaf(colour[first][i] - mean[first], colour[second][i] - mean[second], sum);
        covariance[thread] = sum;
    }
    __syncthreads();

    if (thread < PIXELS) {
        // The axis: multiplied by the covariance again and again, a direction turns to the one in which the colours vary most.
        Colour axis = {1.0f, 1.0f, 1.0f};
#pragma unroll 1
        for (int round = 0; round < ROUNDS; ++round) {
            Colour next;
            next.red = fmaf(covariance[0], axis.red, fmaf(covariance[1], axis.green, covariance[2] * axis.blue));
            next.green = fmaf(covariance[1], axis.red, fmaf(covariance[3], axis.green, covariance[4] * axis.blue));
            next.blue = fmaf(covariance[2], axis.red, fmaf(covariance[4], axis.green, covariance[5] * axis.blue));
            float most = fmaxf(fmaxf(fabsf(next.red), fabsf(next.green)), fabsf(next.blue));
            // Pixels of one colour have no axis.
            float scale = most > 0.0f ? 1.0f / most : 0.0f;
            axis = {next.red * scale, next.green * scale, next.blue * scale};
        }
        place[thread] = fmaf(colour[0][thread], axis.red, fmaf(colour[1][thread], axis.green, colour[2][thread] * axis.blue));
    }
    __syncthreads();
    if (thread < PIXELS) {
        int before = 0;
        for (int i = 0; i < PIXELS; ++i)
            before += (place[i] < place[thread]) | ((place[i] == place[thread]) & (i < thread));
        rank[thread] = before;
        sorted[before] = make_float4(colour[0][thread], colour[1][thread], colour[2][thread], 0.0f);
    }
    __syncthreads();

    float ownLeast = __int_as_float(0x7f800000);
    uint ownBest = 0, ownEnds = 0;
    float all[3] = {3.0f * PIXELS * mean[0], 3.0f * PIXELS * mean[1], 3.0f * PIXELS * mean[2]};
    for (int number = thread; number < count; number += THREADS) {
        uint partition = partitions[number];
        float a[3] = {};
        // With all sixteen in one piece nvcc would keep the pixels in 48 registers.
#pragma unroll 4
        for (int i = 0; i < PIXELS; ++i) {
            float weight = (float)((partition >> (2 * i)) & 3);
            float4 pixel = sorted[i];
            a[0] = fmaf(weight, pixel.x, a[0]);
            a[1] = fmaf(weight, pixel.y, a[1]);
            a[2] = fmaf(weight, pixel.z, a[2]);
        }
        // Of the weights: the sum, and the sum of their squares, from the numbers of set bits.
        int low = __popc(partition & 0x55555555), high = __popc(partition & 0xaaaaaaaa);
        int weights = low + 2 * high, aa = low + 4 * high + 4 * __popc(partition & (partition >> 1) & 0x55555555);
        int ab = 3 * weights - aa, bb = 9 * PIXELS - 6 * weights + aa;
        float scale = 3.0f / (float)(aa * bb - ab * ab);
        float total = 0.0f;
        uint start = 0, end = 0;
        for (int channel = 0; channel < 3; ++channel) {
            int bits = channel == 1 ? 6 : 5;
            float most = channel == 1 ? 63.0f : 31.0f;
            float b = all[channel] - a[channel];
            uint first = rounded(fmaf(a[channel], (float)bb, -(b * (float)ab)) * scale, most);
            uint second = rounded(fmaf(b, (float)aa, -(a[channel] * (float)ab)) * scale, most);
            total += error(a[channel], b, (float)aa, (float)ab, (float)bb, decoded(first, bits), decoded(second, bits));
            start = (start << bits) | first;
            end = (end << bits) | second;
        }
        if (total < ownLeast) {
            ownLeast = total;
            ownBest = number;
            ownEnds = (start << 16) | end;
        }
    }
    least[thread] = ownLeast;
    best[thread] = ownBest;
    ends[thread] = ownEnds;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            float other = least[thread + half];
            // Of equal errors the lower number wins.
            if (other < least[thread] || (other == least[thread] && best[thread + half] < best[thread])) {
                least[thread] = other;
                best[thread] = best[thread + half];
                ends[thread] = ends[thread + half];
            }
        }
        __syncthreads();
    }

    if (thread == 0) {
        uint partition = partitions[best[0]], start = ends[0] >> 16, end = ends[0] & 0xffff;
        // Of a block with four colours, the first end is the greater number. The others change places with it: lower bits of the
        // pixels' numbers are inverted. If both ends are the same, each pixel is the first.
        uint flip = start < end ? 0x55555555u : 0;
        uint pixels = 0;
        for (int i = 0; i < PIXELS; ++i) {
            // The ends have the numbers 0 and 1, the colours between them 2 and 3.
            uint weight = (partition >> (2 * rank[i])) & 3;
            pixels |= ((0x0231u >> (4 * weight)) & 3) << (2 * i);
        }
        pixels = start == end ? 0 : pixels ^ flip;
        out[blockIdx.y * gridDim.x + blockIdx.x] = make_uint2(max(start, end) | (min(start, end) << 16), pixels);
    }
}

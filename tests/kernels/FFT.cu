// Fourier transforms of 1024 complex numbers, one a block of 64 threads, with factors of four: five steps in shared memory. The
// numbers are read in the order in which the steps begin, digits to the base of four reversed.
// After kfft (fast Fourier transform): sharing thesis table 3.8, 8704 bytes.
constexpr int POINTS = 1024;
constexpr int THREADS = 64;

__device__ float2 operator+(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ float2 operator-(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

__device__ float2 operator*(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// A place is left free behind every 16 numbers, against bank conflicts.
__device__ int place(int point)
{
    return point + point / 16;
}

__global__ void kfft(float2 *out, const float2 *in)
{
    __shared__ float2 number[POINTS + POINTS / 16];

    int thread = threadIdx.x;
    in += blockIdx.x * POINTS;
    out += blockIdx.x * POINTS;

#pragma unroll 1
    for (int i = thread; i < POINTS; i += THREADS) {
        // All ten bits reversed; within a digit back again.
        unsigned reversed = __brev(i) >> 22;
        reversed = (reversed & 0x155) << 1 | (reversed & 0x2aa) >> 1;
        number[place(reversed)] = in[i];
    }
    __syncthreads();

#pragma unroll 1
    for (int span = 1; span < POINTS; span *= 4) {
        float angle = -0.5f / span;
#pragma unroll 1
        for (int i = thread; i < POINTS / 4; i += THREADS) {
            int j = i & (span - 1);
            int first = (i - j) * 4 + j;
            float2 w;
            sincospif(angle * j, &w.y, &w.x);
            float2 a = number[place(first)];
            float2 b = number[place(first + span)] * w;
            float2 c = number[place(first + 2 * span)] * (w * w);
            float2 d = number[place(first + 3 * span)] * (w * w * w);

            float2 even = a + c, other = a - c, odd = b + d;
            // (b - d) by minus i.
            float2 turned = make_float2(b.y - d.y, d.x - b.x);
            number[place(first)] = even + odd;
            number[place(first + span)] = other + turned;
            number[place(first + 2 * span)] = even - odd;
            number[place(first + 3 * span)] = other - turned;
        }
        __syncthreads();
    }

#pragma unroll 1
    for (int i = thread; i < POINTS; i += THREADS)
        out[i] = number[place(i)];
}

// Motion estimation of a video encoder: sums of absolute differences between each 4 x 4 block of a picture and the reference
// picture, at all places within a search window; one thread a place. Then the best place by a shuffle reduction. Bytes in,
// 16-bit sums out.
// After sad of Parboil: hierarchy thesis tables 4.2 and 4.3.
typedef unsigned char uchar;
typedef unsigned short ushort;

constexpr int BLOCK = 4;
constexpr int RANGE = 8;  // places in each direction; 64 threads

__global__ void sad(ushort *sums, const uchar *picture, const uchar *reference, int width, int height)
{
    __shared__ uchar current[BLOCK][BLOCK];

    int thread = threadIdx.y * RANGE + threadIdx.x;
    int x = blockIdx.x * BLOCK, y = blockIdx.y * BLOCK;
    if (thread < BLOCK * BLOCK)
        current[thread / BLOCK][thread % BLOCK] = picture[(y + thread / BLOCK) * width + x + thread % BLOCK];
    __syncthreads();

    int left = x + threadIdx.x - RANGE / 2, top = y + threadIdx.y - RANGE / 2;
    ushort sum = 0;
    for (int row = 0; row < BLOCK; ++row)
        for (int column = 0; column < BLOCK; ++column) {
            int rx = min(max(left + column, 0), width - 1);
            int ry = min(max(top + row, 0), height - 1);
            sum += abs((int)current[row][column] - (int)reference[ry * width + rx]);
        }
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    sums[block * RANGE * RANGE + thread] = sum;
}

// One warp a block of the picture: the least sum, and the first place that has it.
__global__ void sadBest(uint2 *best, const ushort *sums, int blocks)
{
    int block = blockIdx.x * blockDim.y + threadIdx.y;
    if (block >= blocks)
        return;

    const ushort *own = sums + block * RANGE * RANGE;
    unsigned int least = own[threadIdx.x] << 16 | threadIdx.x;
    least = min(least, own[threadIdx.x + 32] << 16 | (threadIdx.x + 32));
    for (int lanes = 16; lanes > 0; lanes /= 2)
        least = min(least, __shfl_down_sync(0xffffffff, least, lanes));
    if (threadIdx.x == 0)
        best[block] = make_uint2(least >> 16, least & 0xffff);
}

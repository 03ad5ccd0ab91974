// A two-dimensional convolution as one pass over rows and one over columns. Each thread makes four pixels, a block width or
// height apart; blocks stage their pixels and the margins beside them in shared memory, zero beyond the picture's edge; the
// filter is in constant memory. The block shapes are those of the SDK's program (64 and 128 threads).
// After convolutionSeparable of the CUDA SDK: hierarchy thesis table 4.2, sharing thesis tables 2.2 and 3.8.
constexpr int RADIUS = 8;
constexpr int TAPS = 2 * RADIUS + 1;
// Of a thread.
#ifndef PIXELS
#define PIXELS 4
#endif

constexpr int ROWS_X = 16, ROWS_Y = 4;
// Of a row, pixels that are staged on either side.
#ifndef ROWS_MARGIN
#define ROWS_MARGIN RADIUS
#endif
constexpr int COLUMNS_X = 16, COLUMNS_Y = 8;

__constant__ float filter[TAPS];

__global__ void convolutionRows(float *out, const float *in, int width, int height)
{
    constexpr int LENGTH = PIXELS * ROWS_X;
    __shared__ float line[ROWS_Y][LENGTH + 2 * ROWS_MARGIN];

    int left = blockIdx.x * LENGTH;
    int y = blockIdx.y * ROWS_Y + threadIdx.y;
    for (int i = threadIdx.x; i < LENGTH + 2 * ROWS_MARGIN; i += ROWS_X) {
        int x = left + i - ROWS_MARGIN;
        line[threadIdx.y][i] = x >= 0 && x < width ? in[y * width + x] : 0.0f;
    }
    __syncthreads();

    for (int pixel = 0; pixel < PIXELS; ++pixel) {
        int x = threadIdx.x + pixel * ROWS_X;
        float sum = 0.0f;
        for (int tap = 0; tap < TAPS; ++tap)
            sum += filter[TAPS - 1 - tap] * line[threadIdx.y][x + ROWS_MARGIN - RADIUS + tap];
        out[y * width + left + x] = sum;
    }
}

__global__ void convolutionColumns(float *out, const float *in, int width, int height)
{
    constexpr int LENGTH = PIXELS * COLUMNS_Y;
    // One element more than needed, against bank conflicts.
    __shared__ float line[COLUMNS_X][LENGTH + 2 * RADIUS + 1];

    int x = blockIdx.x * COLUMNS_X + threadIdx.x;
    int top = blockIdx.y * LENGTH;
    for (int i = threadIdx.y; i < LENGTH + 2 * RADIUS; i += COLUMNS_Y) {
        int y = top + i - RADIUS;
        line[threadIdx.x][i] = y >= 0 && y < height ? in[y * width + x] : 0.0f;
    }
    __syncthreads();

    for (int pixel = 0; pixel < PIXELS; ++pixel) {
        int y = threadIdx.y + pixel * COLUMNS_Y;
        float sum = 0.0f;
        for (int tap = 0; tap < TAPS; ++tap)
            sum += filter[TAPS - 1 - tap] * line[threadIdx.x][y + tap];
        out[(top + y) * width + x] = sum;
    }
}

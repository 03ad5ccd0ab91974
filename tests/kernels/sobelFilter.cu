// Edges of a grey picture with Sobel's operators. A block stages its pixels and a rim of one, clamped at the picture's edge, as
// bytes in shared memory. Byte loads and stores, small integer arithmetic.
// After SobelFilter of the CUDA SDK: hierarchy thesis table 4.2.
constexpr int SIZE = 16;

__global__ void sobelFilter(unsigned char *edges, const unsigned char *picture, int width, int height, float gain)
{
    __shared__ unsigned char tile[SIZE + 2][SIZE + 2];

    int left = blockIdx.x * SIZE - 1;
    int top = blockIdx.y * SIZE - 1;
    int thread = threadIdx.y * SIZE + threadIdx.x;
    for (int i = thread; i < (SIZE + 2) * (SIZE + 2); i += SIZE * SIZE) {
        int row = i / (SIZE + 2), column = i % (SIZE + 2);
        int x = min(max(left + column, 0), width - 1);
        int y = min(max(top + row, 0), height - 1);
        tile[row][column] = picture[y * width + x];
    }
    __syncthreads();

    int x = left + 1 + threadIdx.x;
    int y = top + 1 + threadIdx.y;
    if (x >= width || y >= height)
        return;

    unsigned char *above = &tile[threadIdx.y][threadIdx.x];
    unsigned char *here = &tile[threadIdx.y + 1][threadIdx.x];
    unsigned char *below = &tile[threadIdx.y + 2][threadIdx.x];
    short horizontal = above[2] + 2 * here[2] + below[2] - above[0] - 2 * here[0] - below[0];
    short vertical = above[0] + 2 * above[1] + above[2] - below[0] - 2 * below[1] - below[2];
    short sum = (short)(gain * (abs(horizontal) + abs(vertical)));
    if (sum > 255)
        sum = 255;
    edges[y * width + x] = sum;
}

// Points of a wall are followed through the pictures of a film, a block to a point. In the first picture a block learns what its
// point's surroundings look like: the template. In a later one it looks for the place nearby that is most like it, the sum of
// differences of all pixels being least, and moves the point there. Pixels are smoothed on the way: sums of 3 x 3. Only a later
// picture needs shared memory; which it is, an argument says.
// After heartwall of Rodinia: sharing thesis table 3.3, 11872 bytes, and 3.4.1.6 (a run on the first picture alone uses none of them).
constexpr int HEIGHT = 53, PITCH = 56;

__device__ int smooth(const unsigned char *picture, int width, int x, int y)
{
    int sum = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx)
            sum += picture[(y + dy) * width + x + dx];
    return sum;
}

// Templates have `side` x `side` pixels, their upper left one at the point; a point moves by up to `reach` pixels. Blocks have a
// power of two of threads, no fewer than places to look at.
__global__ void followWall(int *pointX, int *pointY, int *learnt, const unsigned char *picture, int width, int side, int reach,
                           int number)
{
    __shared__ unsigned cell[HEIGHT * PITCH];

    int thread = threadIdx.x;
    int x = pointX[blockIdx.x], y = pointY[blockIdx.x];
    int *mine = learnt + blockIdx.x * side * side;

    if (number == 0) {
        for (int i = thread; i < side * side; i += blockDim.x)
            mine[i] = smooth(picture, width, x + i % side, y + i / side);
        return;
    }

    int window = side + 2 * reach;
    for (int i = thread; i < window * window; i += blockDim.x)
        cell[i / window * PITCH + i % window] = smooth(picture, width, x - reach + i % window, y - reach + i / window);
    __syncthreads();

    int ways = 2 * reach + 1;
    unsigned least = 0xffffffff;
    if (thread < ways * ways) {
        const unsigned *corner = cell + thread / ways * PITCH + thread % ways;
        unsigned difference = 0;
        for (int i = 0; i < side; ++i)
            for (int j = 0; j < side; ++j)
                difference += abs((int)corner[i * PITCH + j] - mine[i * side + j]);
        // With the place, so that the first of equal ones is taken.
        least = difference * 1024 + thread;
    }
    __syncthreads();

    cell[thread] = least;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half)
            cell[thread] = min(cell[thread], cell[thread + half]);
        __syncthreads();
    }
    if (thread == 0) {
        int place = cell[0] % 1024;
        pointX[blockIdx.x] = x + place % ways - reach;
        pointY[blockIdx.x] = y + place / ways - reach;
    }
}

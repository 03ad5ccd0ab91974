// One Jacobi step for Laplace's equation in three dimensions: every inner cell becomes the mean of its six neighbours, boundary
// cells are copied. A block has a column of 32 x 4 cells with a rim of one, and keeps three planes of it in shared memory while
// it walks along z; the rim is loaded by a few threads of the block.
// After LPS (laplace3d) of GPGPU-Sim's set: sharing thesis table 4.3.
constexpr int BX = 32;
constexpr int BY = 4;
constexpr int WIDTH = BX + 2;
constexpr int PLANE = WIDTH * (BY + 2);
constexpr int RIM = 2 * WIDTH + 2 * BY;

__global__ void laplace3d(int nx, int ny, int nz, const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ float cells[3 * PLANE];

    int thread = threadIdx.x + threadIdx.y * BX;
    int x = blockIdx.x * BX + threadIdx.x;
    int y = blockIdx.y * BY + threadIdx.y;
    int own = (threadIdx.y + 1) * WIDTH + threadIdx.x + 1;
    bool active = x < nx && y < ny;
    int global = y * nx + x;

    // The rim: the rows above and below with the corners, then the columns left and right.
    bool hasRim = thread < RIM;
    int rimX, rimY;
    if (thread < 2 * WIDTH) {
        rimX = thread % WIDTH;
        rimY = thread < WIDTH ? 0 : BY + 1;
    } else {
        rimX = (thread - 2 * WIDTH) % 2 * (BX + 1);
        rimY = (thread - 2 * WIDTH) / 2 + 1;
    }
    int rim = rimY * WIDTH + rimX;
    int gx = blockIdx.x * BX + rimX - 1, gy = blockIdx.y * BY + rimY - 1;
    hasRim = hasRim && gx >= 0 && gx < nx && gy >= 0 && gy < ny;
    int globalRim = gy * nx + gx;
    int area = nx * ny;

    int before = 0, here = PLANE, behind = 2 * PLANE;
    if (active)
        cells[behind + own] = in[global];
    if (hasRim)
        cells[behind + rim] = in[globalRim];

    for (int z = 0; z < nz; ++z) {
        int t = before;
        before = here;
        here = behind;
        behind = t;

        if (z < nz - 1) {
            if (active)
                cells[behind + own] = in[global + area];
            if (hasRim)
                cells[behind + rim] = in[globalRim + area];
        }
        __syncthreads();

        if (active) {
            float value;
            if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1)
                value = cells[here + own];
            else
                value = (cells[here + own - 1] + cells[here + own + 1] + cells[here + own - WIDTH] + cells[here + own + WIDTH] +
                         cells[before + own] + cells[behind + own]) *
                        (1.0f / 6.0f);
            out[global] = value;
        }
        global += area;
        globalRim += area;
        __syncthreads();
    }
}

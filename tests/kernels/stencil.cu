// A seven-point stencil on a volume: each thread has two columns, a block width apart, and walks along z; what it needs of the
// planes before and behind stays in registers, the current plane is in shared memory. Boundary cells are not written.
// After stencil of Parboil (block2D_hybrid_coarsen_x): sharing thesis table 2.1.
constexpr int BX = 32;

template <int BY>
__global__ void stencil(float c0, float c1, const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float plane[BY][2 * BX];

    int tx = threadIdx.x, ty = threadIdx.y;
    int x1 = blockIdx.x * 2 * BX + tx;
    int x2 = x1 + BX;
    int y = blockIdx.y * BY + ty;
    int area = nx * ny;
    bool write1 = x1 > 0 && x1 < nx - 1 && y > 0 && y < ny - 1;
    bool write2 = x2 > 0 && x2 < nx - 1 && y > 0 && y < ny - 1;
    bool load1 = x1 < nx && y < ny;
    bool load2 = x2 < nx && y < ny;
    int i1 = y * nx + x1, i2 = y * nx + x2;

    float before1 = load1 ? in[i1] : 0.0f, before2 = load2 ? in[i2] : 0.0f;
    float here1 = load1 ? in[i1 + area] : 0.0f, here2 = load2 ? in[i2 + area] : 0.0f;

    for (int z = 1; z < nz - 1; ++z) {
        i1 += area;
        i2 += area;
        plane[ty][tx] = here1;
        plane[ty][tx + BX] = here2;
        __syncthreads();

        float behind1 = load1 ? in[i1 + area] : 0.0f;
        float behind2 = load2 ? in[i2 + area] : 0.0f;

        if (write1) {
            float west = tx > 0 ? plane[ty][tx - 1] : in[i1 - 1];
            float east = plane[ty][tx + 1];
            float north = ty > 0 ? plane[ty - 1][tx] : in[i1 - nx];
            float south = ty < BY - 1 ? plane[ty + 1][tx] : in[i1 + nx];
            out[i1] = (west + east + north + south + before1 + behind1) * c1 - here1 * c0;
        }
        if (write2) {
            float west = plane[ty][tx + BX - 1];
            float east = tx < BX - 1 ? plane[ty][tx + BX + 1] : in[i2 + 1];
            float north = ty > 0 ? plane[ty - 1][tx + BX] : in[i2 - nx];
            float south = ty < BY - 1 ? plane[ty + 1][tx + BX] : in[i2 + nx];
            out[i2] = (west + east + north + south + before2 + behind2) * c1 - here2 * c0;
        }
        __syncthreads();

        before1 = here1;
        here1 = behind1;
        before2 = here2;
        here2 = behind2;
    }
}

template __global__ void stencil<4>(float c0, float c1, const float *in, float *out, int nx, int ny, int nz);
template __global__ void stencil<16>(float c0, float c1, const float *in, float *out, int nx, int ny, int nz);

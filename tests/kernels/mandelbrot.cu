// The Mandelbrot set, coloured by the number of steps until a point escapes. Blocks fetch tiles of the picture from a global
// counter until none is left; within a warp, points escape at different times.
// After Mandelbrot of the CUDA SDK: hierarchy thesis table 4.2.
constexpr int TILE_X = 16;
constexpr int TILE_Y = 8;

__device__ unsigned int nextTile;

__device__ inline int escape(float x0, float y0, int crunch)
{
    float x = x0, y = y0;
    float xx = x * x, yy = y * y;
    int i = crunch;
    while (i > 0 && xx + yy < 4.0f) {
        y = x * y * 2.0f + y0;
        x = xx - yy + x0;
        yy = y * y;
        xx = x * x;
        --i;
    }
    return i;
}

__global__ void mandelbrot(uchar4 *picture, int width, int height, int crunch, float left, float top, float scale, int tilesX,
                           int tiles)
{
    __shared__ unsigned int tile;

    while (true) {
        if (threadIdx.x == 0 && threadIdx.y == 0)
            tile = atomicAdd(&nextTile, 1);
        __syncthreads();
        unsigned int mine = tile;
        __syncthreads();
        if (mine >= tiles)
            break;

        int x = (mine % tilesX) * TILE_X + threadIdx.x;
        int y = (mine / tilesX) * TILE_Y + threadIdx.y;
        if (x < width && y < height) {
            int steps = escape(left + x * scale, top + y * scale, crunch);
            uchar4 colour = make_uchar4(0, 0, 0, 0);
            if (steps > 0) {
                int m = crunch - steps;
                colour = make_uchar4(m * 3, m * 5, m * 7, 255);
            }
            picture[y * width + x] = colour;
        }
    }
}

// Heat on a chip: an explicit five-point time step, several of them in one launch. A block loads a tile, and computes as many
// steps as the tile's rim allows: with each step the valid part shrinks by one on every side (a pyramid), except at the chip's
// edge, where the neighbour is the cell itself.
// After hotspot of Rodinia (calculate_temp, 16 x 16 threads): hierarchy thesis tables 4.2 and 4.3, sharing thesis table 2.1.
constexpr int SIZE = 16;

__device__ inline bool within(int x, int low, int high) { return x >= low && x <= high; }

__global__ void hotspot(float *out, const float *in, const float *power, int columns, int rows, int steps, float cap, float rx,
                        float ry, float rz)
{
    __shared__ float temperature[SIZE][SIZE];
    __shared__ float heat[SIZE][SIZE];
    __shared__ float next[SIZE][SIZE];
    const float ambient = 80.0f;

    int tx = threadIdx.x, ty = threadIdx.y;
    int inner = SIZE - 2 * steps;
    int left = blockIdx.x * inner - steps;
    int top = blockIdx.y * inner - steps;
    int x = left + tx, y = top + ty;
    bool onChip = within(x, 0, columns - 1) && within(y, 0, rows - 1);

    if (onChip) {
        temperature[ty][tx] = in[y * columns + x];
        heat[ty][tx] = power[y * columns + x];
    }
    __syncthreads();

    // The part of the tile that lies on the chip, and the neighbours within it.
    int firstX = max(0, -left), lastX = min(SIZE - 1, columns - 1 - left);
    int firstY = max(0, -top), lastY = min(SIZE - 1, rows - 1 - top);
    int west = max(tx - 1, firstX), east = min(tx + 1, lastX);
    int north = max(ty - 1, firstY), south = min(ty + 1, lastY);

    bool done = false;
    for (int step = 0; step < steps; ++step) {
        done = within(tx, step + 1, SIZE - 2 - step) && within(ty, step + 1, SIZE - 2 - step) && onChip;
        if (done) {
            float t = temperature[ty][tx];
            next[ty][tx] = t + cap * (heat[ty][tx] + (temperature[south][tx] + temperature[north][tx] - 2.0f * t) * ry +
                                      (temperature[ty][east] + temperature[ty][west] - 2.0f * t) * rx + (ambient - t) * rz);
        }
        __syncthreads();
        if (step == steps - 1)
            break;
        if (done)
            temperature[ty][tx] = next[ty][tx];
        __syncthreads();
    }

    // Those that computed the last step hold the result.
    if (done)
        out[y * columns + x] = next[ty][tx];
}

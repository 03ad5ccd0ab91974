// Triangles of the surface on which a field has a certain level, by marching cubes: a thread to a cube. Each of a cube's twelve
// edges gets a point, where the field has the level if its ends lie on different sides, and the slope there; both wait in shared
// memory until a table says which of them make triangles.
// After marchingCubes of the CUDA SDK (generateTriangles, 32 threads): sharing thesis tables 3.3 and 3.8 (MC1, MC), 9216 bytes.
constexpr int THREADS = 32;
constexpr int MOST_CORNERS = 15;  // of a cube's triangles

// Threads for which there is room.
#ifndef CAPACITY
#define CAPACITY THREADS
#endif

struct Vector {
    float x, y, z;
};

// Slope and value of the field at a point of the grid.
struct __align__(16) Sample {
    Vector slope;
    float value;
};

__device__ Vector between(Vector a, Vector b, float t)
{
    return {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}

// Bits 0, 1 and 2 of a corner's number are its x, y and z; of the edges 4 a to 4 a + 3, which lie along axis a, bits 0 and 1 are the
// next two coordinates. A row of the table names the edges of triangles, three by three, and ends with -1.
// Corners of triangles are in the order of their numbers, for each number in that of the cubes.
__global__ void generateTriangles(Vector *position, Vector *normal, int *corners, const Sample *field, const signed char *table,
                                  const int *active, int cubes, int nx, int ny, float level)
{
    __shared__ Vector point[12 * CAPACITY];
    __shared__ Vector slope[12 * CAPACITY];

    int thread = threadIdx.x;
    int number = blockIdx.x * THREADS + thread;
    if (number >= cubes)
        return;
    int cube = active[number];
    int x = cube % nx, y = cube / nx % ny, z = cube / (nx * ny);

    Sample sample[8];
    int inside = 0;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
        sample[c] = field[((z + (c >> 2)) * (ny + 1) + y + (c >> 1 & 1)) * (nx + 1) + x + (c & 1)];
        inside |= (sample[c].value < level) << c;
    }

#pragma unroll
    for (int edge = 0; edge < 12; ++edge) {
        int axis = edge / 4;
        int from = (edge & 1) << (axis + 1) % 3 | (edge >> 1 & 1) << (axis + 2) % 3;
        int to = from | 1 << axis;
        float t = (level - sample[from].value) / (sample[to].value - sample[from].value);
        Vector a = {(float)(x + (from & 1)), (float)(y + (from >> 1 & 1)), (float)(z + (from >> 2))};
        Vector b = {(float)(x + (to & 1)), (float)(y + (to >> 1 & 1)), (float)(z + (to >> 2))};
        point[edge * CAPACITY + thread] = between(a, b, t);
        slope[edge * CAPACITY + thread] = between(sample[from].slope, sample[to].slope, t);
    }

    int count = 0;
    for (; count < MOST_CORNERS; ++count) {
        int edge = table[inside * (MOST_CORNERS + 1) + count];
        if (edge < 0)
            break;
        position[count * cubes + number] = point[edge * CAPACITY + thread];
        normal[count * cubes + number] = slope[edge * CAPACITY + thread];
    }
    corners[number] = count;
}

// LU decomposition in tiles, without pivoting: for each tile of the diagonal, a kernel decomposes it, a second one solves the tiles below and to the
// right of it, and a third one subtracts their products from the remaining tiles. A loop on the host checks the result.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.h"

constexpr int TILE = 16;

// One block of TILE threads, one for each row: L, without its diagonal of ones, and U replace the tile.
__global__ void diagonal(float *a, int size, int step) {
    __shared__ float tile[TILE][TILE + 1];
    float *corner = a + step * TILE * (size + 1);
    int row = threadIdx.x;
    for (int column = 0; column < TILE; column++) tile[row][column] = corner[row * size + column];
    for (int pivot = 0; pivot < TILE - 1; pivot++) {
        __syncthreads();
        if (row <= pivot) continue;
        float factor = tile[row][pivot] / tile[pivot][pivot];
        for (int column = pivot + 1; column < TILE; column++) tile[row][column] -= factor * tile[pivot][column];
        tile[row][pivot] = factor;
    }
    for (int column = 0; column < TILE; column++) corner[row * size + column] = tile[row][column];
}

// A block for each tile to the right of the diagonal (y = 0) and below it (y = 1), a thread for each of its columns or rows.
__global__ void perimeter(float *a, int size, int step) {
    __shared__ float solved[TILE][TILE + 1], tile[TILE][TILE + 1];
    bool below = blockIdx.y == 1;
    int other = step + 1 + blockIdx.x, lane = threadIdx.x;
    float *corner = a + step * TILE * (size + 1);
    float *mine = below ? a + other * TILE * size + step * TILE : a + step * TILE * size + other * TILE;
    for (int row = 0; row < TILE; row++) {
        solved[row][lane] = corner[row * size + lane];
        tile[row][lane] = mine[row * size + lane];
    }
    __syncthreads();
    for (int i = 0; i < TILE; i++) {
        if (below) {
            float sum = tile[lane][i];
            for (int j = 0; j < i; j++) sum -= tile[lane][j] * solved[j][i];
            tile[lane][i] = sum / solved[i][i];
        } else {
            float sum = tile[i][lane];
            for (int j = 0; j < i; j++) sum -= solved[i][j] * tile[j][lane];
            tile[i][lane] = sum;
        }
    }
    __syncthreads();
    for (int row = 0; row < TILE; row++) mine[row * size + lane] = tile[row][lane];
}

// A block for each remaining tile, a thread for each element.
__global__ void interior(float *a, int size, int step) {
    __shared__ float left[TILE][TILE], above[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = (step + 1 + blockIdx.x) * TILE + x, row = (step + 1 + blockIdx.y) * TILE + y;
    left[y][x] = a[row * size + step * TILE + x];
    above[y][x] = a[(step * TILE + y) * size + column];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < TILE; i++) sum += left[y][i] * above[i][x];
    a[row * size + column] -= sum;
}

int main(int argc, char **argv) {
    int tiles = argc > 1 ? std::atoi(argv[1]) : 4, size = tiles * TILE;
    if (tiles < 1) return 2;
    std::vector<float> a(size * size);
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++) {
            // Large on the diagonal, so that no pivot is needed.
            a[row * size + column] = row == column ? 8.0f + row % 5 : std::cos(0.7f * row + 1.3f * column) / 4;
        }
    }
    std::vector<float> expected = a;

    float *device;
    CHECK(cudaMalloc(&device, a.size() * sizeof(float)));
    CHECK(cudaMemcpy(device, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    for (int step = 0; step < tiles; step++) {
        unsigned rest = tiles - 1 - step;
        diagonal<<<1, TILE>>>(device, size, step);
        CHECK(cudaGetLastError());
        if (rest == 0) break;
        perimeter<<<dim3(rest, 2), TILE>>>(device, size, step);
        CHECK(cudaGetLastError());
        interior<<<dim3(rest, rest), dim3(TILE, TILE)>>>(device, size, step);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(a.data(), device, a.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));

    for (int pivot = 0; pivot < size; pivot++) {
        for (int row = pivot + 1; row < size; row++) {
            float factor = expected[row * size + pivot] /= expected[pivot * size + pivot];
            for (int column = pivot + 1; column < size; column++) {
                expected[row * size + column] -= factor * expected[pivot * size + column];
            }
        }
    }
    // Host and device add in different orders, so the results may differ by rounding.
    float worst = 0;
    for (size_t i = 0; i < a.size(); i++) worst = std::fmax(worst, std::fabs(a[i] - expected[i]));
    bool right = worst < 1e-4f;
    std::printf("lud: %d rows, %.1e from the host's: %s\n", size, worst, right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}

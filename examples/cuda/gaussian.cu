// Gaussian elimination: two kernels for each column, whose grids shrink, then substitution on the host. The residual is checked.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.h"

// Rows of `a` lie `pitch` floats apart.
__global__ void multipliers(float *factor, const float *a, int pitch, int size, int column) {
    int row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < size) factor[row] = a[row * pitch + column] / a[column * pitch + column];
}

__global__ void eliminate(float *a, float *b, const float *factor, int pitch, int size, int column) {
    int row = column + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    int at = column + blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= size || at >= size) return;
    a[row * pitch + at] -= factor[row] * a[column * pitch + at];
    if (at == column) b[row] -= factor[row] * b[column];
}

int main(int argc, char **argv) {
    int size = argc > 1 ? std::atoi(argv[1]) : 24;
    std::vector<float> a(size * size), b(size), x(size);
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++) {
            a[row * size + column] = row == column ? 4.0f + row % 3 : 1.0f / (1 + std::abs(row - column));
        }
        b[row] = 1.0f + row % 5;
    }
    std::vector<float> first_a = a, first_b = b;

    // Two-dimensional copies: rows are packed in the host's memory, and have a pitch in the device's.
    float *device_a, *device_b, *factor;
    size_t row_bytes = size * sizeof(float), pitch_bytes;
    CHECK(cudaMallocPitch(&device_a, &pitch_bytes, row_bytes, size));
    CHECK(cudaMalloc(&device_b, b.size() * sizeof(float)));
    CHECK(cudaMalloc(&factor, size * sizeof(float)));
    int pitch = pitch_bytes / sizeof(float);
    CHECK(cudaMemcpy2D(device_a, pitch_bytes, a.data(), row_bytes, row_bytes, size, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));

    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    for (int column = 0; column < size - 1; column++) {
        int rows = size - 1 - column, columns = size - column;
        multipliers<<<(rows + 31) / 32, 32>>>(factor, device_a, pitch, size, column);
        dim3 block(16, 4), grid((columns + 15) / 16, (rows + 3) / 4);
        eliminate<<<grid, block>>>(device_a, device_b, factor, pitch, size, column);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaMemcpy2D(a.data(), row_bytes, device_a, pitch_bytes, row_bytes, size, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b.data(), device_b, b.size() * sizeof(float), cudaMemcpyDeviceToHost));

    for (int row = size - 1; row >= 0; row--) {
        x[row] = b[row];
        for (int column = row + 1; column < size; column++) x[row] -= a[row * size + column] * x[column];
        x[row] /= a[row * size + row];
    }
    float worst = 0;
    for (int row = 0; row < size; row++) {
        float sum = -first_b[row];
        for (int column = 0; column < size; column++) sum += first_a[row * size + column] * x[column];
        worst = std::fmax(worst, std::fabs(sum));
    }
    bool right = worst < 1e-4f && milliseconds >= 0;
    std::printf("gaussian: %d equations, residual %.1e: %s\n", size, worst, right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}

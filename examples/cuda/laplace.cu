// A potential in a square by Jacobi steps in double precision, and functions of it: the compiler computes doubles with integer instructions.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.h"

// The host computes the same, operation by operation.
__host__ __device__ double relaxed(const double *old, int n, int x, int y) {
    const double *at = old + y * n + x;
    return 0.25 * ((at[-1] + at[1]) + (at[-n] + at[n]));
}

__global__ void step(double *next, const double *old, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) next[y * n + x] = relaxed(old, n, x, y);
}

// The length of the gradient and its inverse, and the sum of the rounded potential.
__global__ void derive(double *length, double *inverse, double *sum, const double *u, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
    int i = y * n + x;
    double dx = (u[i + 1] - u[i - 1]) / 2, dy = (u[i + n] - u[i - n]) / 2;
    length[i] = sqrt(fma(dx, dx, dy * dy));
    inverse[i] = length[i] > 0 ? 1 / length[i] : -1;
    atomicAdd(sum, floor(u[i]));
}

// A kernel of its own, as code of the library is long: the presets' code memory has room for 4096 instructions.
__global__ void decay(double *power, const double *u, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < n) power[y * n + x] = exp(u[y * n + x] * -0.125);
}

static bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 24, steps = argc > 2 ? std::atoi(argv[2]) : 12;
    std::vector<double> u(n * n, 0.0), next;
    for (int x = 0; x < n; x++) u[x] = 100, u[(n - 1) * n + x] = x * 1.5;
    double *buffer, *cells[2];
    CHECK(cudaMalloc(&buffer, (5 * n * n + 1) * sizeof(double)));
    CHECK(cudaMemset(buffer, 0, (5 * n * n + 1) * sizeof(double)));
    for (int i = 0; i < 2; i++) {
        cells[i] = buffer + i * n * n;
        CHECK(cudaMemcpy(cells[i], u.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    }
    double *length = buffer + 2 * n * n, *inverse = length + n * n, *power = inverse + n * n, *sum = power + n * n;
    dim3 grid((n + 31) / 32, n);
    for (int i = 0; i < steps; i++) {
        step<<<grid, 32>>>(cells[(i + 1) % 2], cells[i % 2], n);
        next = u;
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) next[y * n + x] = relaxed(u.data(), n, x, y);
        u.swap(next);
    }
    derive<<<grid, 32>>>(length, inverse, sum, cells[steps % 2], n);
    decay<<<grid, 32>>>(power, cells[steps % 2], n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<double> found(5 * n * n + 1);
    CHECK(cudaMemcpy(found.data(), buffer, found.size() * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(buffer));
    int wrong = 0;
    double total = 0, error = 0;
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            int i = y * n + x;
            double dx = (u[i + 1] - u[i - 1]) / 2, dy = (u[i + n] - u[i - n]) / 2;
            double size = std::sqrt(std::fma(dx, dx, dy * dy));
            double value = std::exp(u[i] * -0.125);
            wrong += !same(found[steps % 2 * n * n + i], u[i]) + !same(found[2 * n * n + i], size);
            wrong += !same(found[3 * n * n + i], size > 0 ? 1 / size : -1);
            error = std::fmax(error, std::fabs(found[4 * n * n + i] - value));
            total += std::floor(u[i]);
        }
    bool right = wrong == 0 && error < 1e-15 && same(total, found.back());
    std::printf("laplace: %d wrong values, error of the library %.2g, sum %.0f: %s\n", wrong, error, found.back(),
                right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}

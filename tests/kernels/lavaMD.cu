// Forces between particles within a cut-off: space is divided into boxes, one a thread block on a three-dimensional grid; a box
// interacts with itself and its up to 26 neighbours, whose particles pass through shared memory. An exponential a pair.
// After lavaMD of Rodinia: sharing thesis tables 2.2 and 4.3.
// Of a box.
#ifndef MAX_PARTICLES
#define MAX_PARTICLES 32
#endif

struct Particle {
    float x, y, z;
    float charge;
};

__global__ void lavaMD(float4 *force, const Particle *particles, int perBox, float alpha)
{
    __shared__ Particle own[MAX_PARTICLES];
    __shared__ Particle other[MAX_PARTICLES];

    int home = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    float a2 = 2.0f * alpha * alpha;

    for (int i = threadIdx.x; i < perBox; i += blockDim.x) {
        own[i] = particles[home * perBox + i];
        force[home * perBox + i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }

    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                int x = (int)blockIdx.x + dx, y = (int)blockIdx.y + dy, z = (int)blockIdx.z + dz;
                if (x < 0 || y < 0 || z < 0 || x >= gridDim.x || y >= gridDim.y || z >= gridDim.z)
                    continue;

                int box = (z * gridDim.y + y) * gridDim.x + x;
                __syncthreads();
                for (int i = threadIdx.x; i < perBox; i += blockDim.x)
                    other[i] = particles[box * perBox + i];
                __syncthreads();

                for (int i = threadIdx.x; i < perBox; i += blockDim.x) {
                    float4 sum = force[home * perBox + i];
                    for (int j = 0; j < perBox; ++j) {
                        float rx = own[i].x - other[j].x;
                        float ry = own[i].y - other[j].y;
                        float rz = own[i].z - other[j].z;
                        float potential = expf(-a2 * (rx * rx + ry * ry + rz * rz));
                        float strength = 2.0f * potential * other[j].charge;
                        sum.x += strength * rx;
                        sum.y += strength * ry;
                        sum.z += strength * rz;
                        sum.w += other[j].charge * potential;
                    }
                    force[home * perBox + i] = sum;
                }
            }
}

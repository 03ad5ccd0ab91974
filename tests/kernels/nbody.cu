// One time step of the gravitational n-body problem, all pairs, for several independent systems (one a row of the grid).
// Positions pass through dynamic shared memory a tile at a time; every thread moves one body. Much arithmetic, few loads.
// After nbody of the CUDA SDK: hierarchy thesis tables 4.2 and 4.3.
__device__ float3 interaction(float3 acceleration, float4 mine, float4 other, float softening)
{
    float3 r = make_float3(other.x - mine.x, other.y - mine.y, other.z - mine.z);
    float distance = r.x * r.x + r.y * r.y + r.z * r.z + softening;
    float inverse = rsqrtf(distance);
    float s = other.w * inverse * inverse * inverse;
    acceleration.x += r.x * s;
    acceleration.y += r.y * s;
    acceleration.z += r.z * s;
    return acceleration;
}

__global__ void nbody(float4 *newPosition, float4 *velocity, const float4 *position, int bodies, float dt, float damping,
                      float softening)
{
    extern __shared__ float4 tile[];

    int system = blockIdx.y * bodies;
    int body = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = position[system + body];
    float3 acceleration = make_float3(0.0f, 0.0f, 0.0f);

    for (int start = 0; start < bodies; start += blockDim.x) {
        tile[threadIdx.x] = position[system + start + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < blockDim.x; ++i)
            acceleration = interaction(acceleration, mine, tile[i], softening);
        __syncthreads();
    }

    float4 v = velocity[system + body];
    v.x = (v.x + acceleration.x * dt) * damping;
    v.y = (v.y + acceleration.y * dt) * damping;
    v.z = (v.z + acceleration.z * dt) * damping;
    mine.x += v.x * dt;
    mine.y += v.y * dt;
    mine.z += v.z * dt;
    newPosition[system + body] = mine;
    velocity[system + body] = v;
}

// The Coulomb potential of many atoms on a plane of a grid: each thread computes four points of a row, 16 apart, and goes
// through all atoms in constant memory; what the four have in common is computed once. Bound by reciprocal square roots.
// After cp of Parboil: hierarchy thesis table 4.2.
constexpr int MAX_ATOMS = 128;
constexpr int BX = 16;
constexpr int POINTS = 4;

__constant__ float4 atom[MAX_ATOMS];  // x, y, squared distance to the plane, charge

__global__ void cp(int atoms, float spacing, float *energy)
{
    int x = blockIdx.x * (BX * POINTS) + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int out = y * (gridDim.x * BX * POINTS) + x;
    float px = spacing * x, py = spacing * y;
    float step = spacing * BX;

    float e0 = 0.0f, e1 = 0.0f, e2 = 0.0f, e3 = 0.0f;
    for (int i = 0; i < atoms; ++i) {
        float4 a = atom[i];
        float dy = py - a.y;
        float dyz = dy * dy + a.z;
        float dx0 = px - a.x;
        float dx1 = dx0 + step;
        float dx2 = dx1 + step;
        float dx3 = dx2 + step;
        e0 += a.w * rsqrtf(dx0 * dx0 + dyz);
        e1 += a.w * rsqrtf(dx1 * dx1 + dyz);
        e2 += a.w * rsqrtf(dx2 * dx2 + dyz);
        e3 += a.w * rsqrtf(dx3 * dx3 + dyz);
    }

    energy[out] += e0;
    energy[out + BX] += e1;
    energy[out + 2 * BX] += e2;
    energy[out + 3 * BX] += e3;
}

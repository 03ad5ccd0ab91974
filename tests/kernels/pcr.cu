// Relaxation of planes by whole lines. The unknowns of a line depend on each other by a tridiagonal system, which a block solves by
// parallel cyclic reduction in shared memory, one equation a thread; and on the lines above and below, whose last values go to the
// right-hand side. A block has a plane of its own and takes its lines in turn, several times: in each sweep it reads the five arrays
// of its plane. While it solves one system it loads the next.
// After PCR of the tridiagonal solvers of Zhang, Cohen and Owens: hierarchy thesis tables 4.3 and 7.2. Their kernel solves each
// system once; the planes are ours.
constexpr int SIZE = 128;  // equations of a system, threads of a block

struct Equation {
    float lower, middle, upper, right;
};

// What the threads of a block know of each other: the system, and what solves it.
struct System {
    float lower[SIZE], middle[SIZE], upper[SIZE], right[SIZE], solution[SIZE];
};

__device__ inline Equation load(const float *lower, const float *middle, const float *upper, const float *right, int at)
{
    Equation equation = {lower[at], middle[at], upper[at], right[at]};
    if (threadIdx.x == 0)
        equation.lower = 0.0f;
    if (threadIdx.x == SIZE - 1)
        equation.upper = 0.0f;
    return equation;
}

__device__ inline void store(System &system, Equation equation)
{
    system.lower[threadIdx.x] = equation.lower;
    system.middle[threadIdx.x] = equation.middle;
    system.upper[threadIdx.x] = equation.upper;
    system.right[threadIdx.x] = equation.right;
}

// `steps` lines are solved, of a plane of `lines`: three or more, so that the line below the next one is not being solved.
__global__ void pcr(float *u, const float *lower, const float *middle, const float *upper, const float *right, int lines, int steps,
                    float weight)
{
    __shared__ System system;

    int i = threadIdx.x;
    int first = blockIdx.x * lines * SIZE + i;

    Equation next = load(lower, middle, upper, right, first);
    float above = 0.0f, below = u[first + SIZE];
    int line = 0;
    for (int step = 0; step < steps; ++step) {
        Equation own = next;
        own.right += weight * (above + below);

        int at = first + line * SIZE;
        line = line < lines - 1 ? line + 1 : 0;
        if (step < steps - 1) {
            next = load(lower, middle, upper, right, first + line * SIZE);
            below = line < lines - 1 ? u[first + (line + 1) * SIZE] : 0.0f;
        }

        // With each step an equation loses its neighbours and gets those twice as far away.
        store(system, own);
#pragma unroll 1
        for (int distance = 1; distance < SIZE / 2; distance *= 2) {
            __syncthreads();
            int l = max(i - distance, 0), r = min(i + distance, SIZE - 1);
            float byLeft = __fdividef(own.lower, system.middle[l]);
            own.lower = -system.lower[l] * byLeft;
            own.middle -= system.upper[l] * byLeft;
            own.right -= system.right[l] * byLeft;
            float byRight = __fdividef(own.upper, system.middle[r]);
            own.upper = -system.upper[r] * byRight;
            own.middle -= system.lower[r] * byRight;
            own.right -= system.right[r] * byRight;
            __syncthreads();
            store(system, own);
        }
        __syncthreads();

        // Pairs of equations with the same two unknowns are left.
        if (i < SIZE / 2) {
            int other = i + SIZE / 2;
            float determinant = system.middle[other] * own.middle - own.upper * system.lower[other];
            system.solution[i] =
                __fdividef(system.middle[other] * own.right - own.upper * system.right[other], determinant);
            system.solution[other] =
                __fdividef(system.right[other] * own.middle - own.right * system.lower[other], determinant);
        }
        __syncthreads();
        u[at] = system.solution[i];
        above = line > 0 ? system.solution[i] : 0.0f;
    }
}

/** How long one case, or one sequence of calls, may take in real time, opening its store included. A longer one hangs. */
export const CASE_TIMEOUT_MS = 30_000;

/** What `work` resolves to, if it settles in time. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it did not settle within ${CASE_TIMEOUT_MS / 1000} s`)),
      CASE_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

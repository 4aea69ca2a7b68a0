/** After this time without an answer a D1 call counts as lost. The call may still take effect later. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Rejects when the call has no answer within the deadline, in milliseconds. Without it a lost answer would block the write queue. */
export async function withDeadline<T>(answer: Promise<T>, milliseconds = ANSWER_TIMEOUT_MS): Promise<T> {
  let timer!: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("D1_ERROR: no answer in time")), milliseconds);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

import { Effect } from "effect"

/** Written to standard output whole, also into a pipe that is slow: the process ends only after. */
export const print = (text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    process.stdout.write(text, () => resume(Effect.void))
  })

import { Effect } from "effect"

/** Writes a text to standard output completely, also into a slow pipe, before the process ends. */
export const print = (text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    process.stdout.write(text, () => resume(Effect.void))
  })

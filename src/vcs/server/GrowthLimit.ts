/** Ends a command that fills a folder once the files in it are larger than a limit. */
import { Effect, Option } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { measureBytes } from "../git/MirrorUse.ts"

const measureEvery = "250 millis"

/** Returns the bytes in the folder if they exceeded the limit before the command ended. */
export const runWithinGrowth = <R>(
  command: Effect.Effect<unknown, CheckoutError, R>,
  folder: string,
  maxBytes: number
): Effect.Effect<Option.Option<number>, CheckoutError, R> => {
  const exceeded = io("export", () => measureBytes(folder)).pipe(
    Effect.delay(measureEvery),
    Effect.repeat({ until: (bytes) => bytes > maxBytes }),
    Effect.map(Option.some)
  )
  return Effect.raceFirst(Effect.as(command, Option.none<number>()), exceeded)
}

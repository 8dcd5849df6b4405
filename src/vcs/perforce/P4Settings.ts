/**
 * Checks the files of settings of Perforce (P4CONFIG) in a working copy and above it. The client reads them, and a downloaded folder may
 * contain one: its server must not be a program that the client starts.
 */
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"

const maxBytes = 65_536
const program = /^[ \t]*P4PORT[ \t]*=[ \t]*(?:rsh|jsh):/im

/** Fails if a file with this name in the folder, or in one above it, names a program as the server. `name`: value of P4CONFIG. */
export const checkSettings = Effect.fnUntraced(function* (
  folder: string,
  name: string | undefined
): Effect.fn.Return<void, CheckoutError> {
  if (name === undefined || name === "" || name.includes("/")) return
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, name)
    if (program.test(yield* io("settings of Perforce", () => readStart(file)))) {
      return yield* new CheckoutError({
        reason: "failed",
        message: `P4PORT in ${file} names a program, which a review does not start; expected host:1666 or ssl:host:1666`
      })
    }
    if (dirname(at) === at) return
  }
})

/** Returns the beginning of a file; "" without one. */
const readStart = async (path: string): Promise<string> => {
  // Opening a pipe waits otherwise.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return ""
  try {
    if (!(await file.stat()).isFile()) return ""
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
    return buffer.toString("utf8", 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Reads the body of a request to a server of a pass within limits: of one body, and of all bodies of the server together. */
import type { IncomingMessage } from "node:http"

export type PassBody =
  | { readonly _tag: "Read"; readonly bytes: Buffer }
  | { readonly _tag: "TooLarge" }
  /** The client disconnected. */
  | { readonly _tag: "Aborted" }

interface PassBodyLimits {
  readonly bodyBytes: number
  readonly totalBytes: number
}

/** Bytes of the bodies that are being read or handled. */
export class HeldBytes {
  bytes = 0
}

/**
 * The bytes count towards `held` until the caller subtracts them. `proceed` is called when the body will be read, for senders that wait
 * for it.
 */
export const readPassBody = async (
  request: IncomingMessage,
  limits: PassBodyLimits,
  held: HeldBytes,
  proceed: () => void
): Promise<PassBody> => {
  const declared = Number(request.headers["content-length"] ?? 0)
  if (declared > limits.bodyBytes) return { _tag: "TooLarge" }
  proceed()
  const chunks: Array<Buffer> = []
  let size = 0
  const release = () => void (held.bytes -= size)
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const block: Buffer = chunk
      size += block.length
      held.bytes += block.length
      if (size > limits.bodyBytes || held.bytes > limits.totalBytes) {
        release()
        return { _tag: "TooLarge" }
      }
      chunks.push(block)
    }
  } catch {
    release()
    return { _tag: "Aborted" }
  }
  return { _tag: "Read", bytes: Buffer.concat(chunks, size) }
}

/**
 * Reads the files of settings of Perforce (P4CONFIG) in a working copy and above it. The client reads them too, they take precedence over its
 * environment, and a downloaded folder may contain one: its server must not be a program that the client starts. A file that the client
 * may read in another way than this is refused, and the server is also passed as an option, which takes precedence over every file.
 */
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import { Effect } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import { isServerAddress } from "../../domain/PerforcePort.ts"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"

const maxBytes = 65_536
const maxLine = 500
/** A remark that the client may divide where its buffers end. */
const maxRemark = 100

/** Splits a line into name and value; both are empty where it is no setting. */
const splitSetting = (line: string): readonly [name: string, value: string] => {
  const at = line.indexOf("=")
  return at < 0 ? ["", ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}

/** Text of one line that every reader divides in the same way: no other control characters, separators or marks of an encoding. */
const plainLine = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]*$/u

/** Returns the server that a file names, if it does, or why the file is refused. Pure. */
export const readSettings = (text: string): { readonly port: string | undefined } | string => {
  let port: string | undefined
  for (const line of text.split(/\r?\n/)) {
    const visible = line.replaceAll("\t", " ")
    if (!plainLine.test(visible)) return "has a character that is not shown"
    if (visible.length > maxLine) return `has a line of over ${maxLine} characters`
    const isRemark = /^ *#/.test(visible)
    if (isRemark && !(/p4port/i.test(visible) && visible.length > maxRemark)) continue
    const [name, value] = splitSetting(line)
    if (/^P4CLIENTPATH$/i.test(name)) return "sets P4CLIENTPATH, which a review sets itself"
    if (!/p4port/i.test(visible)) continue
    if (!/^P4PORT$/.test(name) || !isServerAddress(value))
      return "sets P4PORT to something else than host:1666 or ssl:host:1666"
    port ??= value
  }
  return { port }
}

/** The name that the client looks for: from the environment, else from the user's file of settings. */
const findName = async (env: NodeJS.ProcessEnv): Promise<string | undefined> => {
  if (env["P4CONFIG"] !== undefined) return env["P4CONFIG"]
  const text = await readStart(env["P4ENVIRO"] ?? join(homedir(), ".p4enviro"))
  const settings = (text?.text ?? "").split("\n").map(splitSetting)
  return settings.find(([name]) => name === "P4CONFIG")?.[1]
}

/**
 * Returns the server of the settings for a folder; undefined if none of them names one. Fails if a file in the folder or above it could name
 * a program.
 */
export const checkSettings = Effect.fnUntraced(function* (
  folder: string,
  env: NodeJS.ProcessEnv
): Effect.fn.Return<string | undefined, CheckoutError> {
  const own = isServerAddress(env["P4PORT"] ?? "") ? env["P4PORT"] : undefined
  const name = yield* io("settings of Perforce", () => findName(env))
  if (name === undefined || name === "" || isAbsolute(name)) return own
  const ports: Array<string | undefined> = []
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, name)
    const found = yield* io("settings of Perforce", () => readStart(file))
    if (found !== undefined) {
      const read = found.isWhole ? readSettings(found.text) : `is larger than ${maxBytes} bytes`
      if (typeof read === "string") {
        return yield* new CheckoutError({
          reason: "failed",
          why: verbatimReason(
            `${file} ${read}; a review does not start a client that reads it, because its server could be a program`
          )
        })
      }
      ports.push(read.port)
    }
    if (dirname(at) === at) break
  }
  // Where only files further up name one, the client decides which counts.
  return ports.every((port) => port === undefined) ? own : ports[0]
})

/** Returns the beginning of a file; undefined without one. */
const readStart = async (path: string): Promise<{ readonly text: string; readonly isWhole: boolean } | undefined> => {
  // Opening a pipe waits otherwise.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    if (!(await file.stat()).isFile()) return { text: "", isWhole: false }
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0)
    return { text: buffer.toString("utf8", 0, bytesRead), isWhole: bytesRead <= maxBytes }
  } finally {
    await file.close()
  }
}

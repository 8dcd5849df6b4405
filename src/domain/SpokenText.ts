/** The parts of a comment that its writer addresses to others. Pure and linear in the length of the text. */
import { fenceAfter } from "./CodeFence.ts"

/** Returns the lines that are neither quoted nor code, without code in them. */
export const spokenLines = function* (text: string): Generator<string> {
  let fence: string | undefined
  for (const line of text.split("\n")) {
    const next = fenceAfter(fence, line)
    if (fence === undefined && next === undefined && !/^ {0,3}>/.test(line)) yield line.replaceAll(/`[^`]*`/g, "``")
    fence = next
  }
}

/** Returns the name by which a comment mentions an account, in lower case. That of an app of GitHub is mentioned without its suffix. */
export const mentionName = (account: string): string => account.replace(/\[bot\]$/i, "").toLowerCase()

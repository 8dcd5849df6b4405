/** Collapses consecutive empty lines that templates leave behind. Code in fences stays verbatim. Pure. */
import { fenceAfter } from "../../domain/CodeFence.ts"

export const tidy = (text: string): string => {
  const lines: Array<string> = []
  let open: string | undefined
  for (const line of text.split("\n")) {
    if (open === undefined && line.trim() === "" && lines.at(-1) === "") continue
    lines.push(open === undefined && line.trim() === "" ? "" : line)
    open = fenceAfter(open, line)
  }
  return lines.join("\n").trim()
}

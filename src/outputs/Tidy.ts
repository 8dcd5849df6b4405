/** Collapses consecutive empty lines that templates leave behind. Code in fences stays verbatim. Pure. */
const fence = /^[\s>]*?(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/

/**
 * Tracks fenced blocks line by line, including their first and last lines; the definition of a fence is the same for all texts.
 */
export const fenceAfter = (open: string | undefined, line: string): string | undefined => {
  const [, ticks = "", rest = ""] = fence.exec(line) ?? []
  if (open === undefined) return ticks === "" ? undefined : ticks
  return ticks.startsWith(open) && rest.trim() === "" ? undefined : open
}

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

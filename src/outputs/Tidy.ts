/** Templates leave empty lines behind: of several in a row one stays. Code in fences is kept to the letter. Pure. */
const fence = /^[\s>]*?(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/

/** Which lines of a text stand in a fence, its own two lines included; what a fence is, is the same for all our texts. */
export const fenceAfter = (open: string | undefined, line: string): string | undefined => {
  const [, ticks = "", rest = ""] = fence.exec(line) ?? []
  if (open === undefined) return ticks === "" ? undefined : ticks
  return ticks.startsWith(open) && rest.trim() === "" ? undefined : open
}

export const tidy = (text: string): string => {
  const kept: Array<string> = []
  let open: string | undefined
  for (const line of text.split("\n")) {
    if (open === undefined && line.trim() === "" && kept.at(-1) === "") continue
    kept.push(open === undefined && line.trim() === "" ? "" : line)
    open = fenceAfter(open, line)
  }
  return kept.join("\n").trim()
}

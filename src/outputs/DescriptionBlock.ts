/**
 * The part of the description of a change that the service writes, between two markers that people put there, for example in a template of the
 * repository. Everything else stays as people wrote it. Pure.
 */
const begin = "<!-- aicr:describe -->"
const end = "<!-- /aicr:describe -->"

/** Longest description that is written; all hosts accept it. */
const maxLength = 60_000

/**
 * GitLab would execute a line that begins with a slash, for the account of the service. The text of people is written back unchanged, so such a
 * description is not written at all.
 */
const isLive = (text: string): boolean => /^[ \t]{0,20}\/[a-z]/im.test(text)

/** Returns the description with the text between its markers; undefined if it has none, or must not be written. */
export const fillDescription = (description: string, text: string): string | undefined => {
  const from = description.indexOf(begin)
  const to = from < 0 ? -1 : description.indexOf(end, from)
  if (to < 0) return undefined
  const before = description.slice(0, from)
  const after = description.slice(to)
  const filled = `${before}${begin}\n\n${text}\n\n${after}`
  return isLive(before) || isLive(after) || filled.length > maxLength ? undefined : filled
}

/** Recognises refusals of prompts that are too long, which have no code of their own at most providers. */
const overflowPattern =
  /context[ _-]?(length|window|size)|maximum context|too many (input )?tokens|prompt is too long|input is too long|exceeds? the (maximum|max|model)|token (count|limit)|reduce the length|request too large/i

/** Returns whether the text of a refusal is about the length of the prompt. */
export const isOverflowText = (text: string): boolean => overflowPattern.test(text)

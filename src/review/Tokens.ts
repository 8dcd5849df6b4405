/** Tokens of a text, estimated on the high side: code runs near three characters a token, other scripts near one. Pure. */

export const estimateTokens = (text: string): number => {
  let wide = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) wide++
  return Math.ceil((text.length - wide) / 3 + wide * 1.2)
}

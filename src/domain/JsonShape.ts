/** Measures JSON by its text, so that what would take long to parse and check is refused before. Pure. */
const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

interface JsonLimits {
  /** Maximum number of nested objects and arrays. */
  readonly depth: number
  /** Maximum number of objects, arrays, their fields and their items. */
  readonly values: number
}

/**
 * Returns the number of values, undefined if a limit is exceeded. Reads each character once. The result for a text that is not JSON has no
 * meaning, but is within the limits.
 */
export const measureJson = (text: string, limits: JsonLimits): number | undefined => {
  let [depth, values, isInText] = [0, 1, false]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isInText) {
      if (code === backslash) at++
      else if (code === quote) isInText = false
    } else if (code === quote) isInText = true
    else if (code === comma) values++
    else if (code === 0x5b || code === 0x7b) {
      depth++
      values++
    } else if (code === 0x5d || code === 0x7d) depth--
    if (depth > limits.depth || values > limits.values) return undefined
  }
  return values
}

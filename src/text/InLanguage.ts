/** Texts of reasons in the language of what is published. */
import type { Reason } from "../domain/Reason.ts"
import { inEnglish } from "./en.ts"
import { inChinese } from "./zh.ts"

/** Returns whether a language tag, such as `review.output_language`, is of Chinese. Everything else gets texts in English. */
export const isChinese = (language: string): boolean => /^zh\b/i.test(language)

export const inLanguage = (language: string): ((reason: Reason) => string) =>
  isChinese(language) ? inChinese : inEnglish

/**
 * Decides which texts in code are for people: sentences, names of tests, and words that call code safe or reviewed. A change whose author
 * calls it harmless is read with less care, so a blind reading shows none of them. Texts that look like code (queries, commands, paths,
 * formats) remain, because faults are in them; only words of approval in them are hidden. Pure.
 */
import { withoutInvisible } from "../domain/Text.ts"

/** A stretch of a text, by offsets. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/** Share of the words of a text from which it is a sentence. */
const proseShare = 0.75
/** Characters of a script without spaces that make a sentence. */
const minIdeographs = 4

const escapes = /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-7]{1,3})|[\s\S])/g
const ideographs = /[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]/g
const wordLike = /^[(["'“‘«¿¡]*\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*[)\]"'”’».,:!?…]*$/u
const piece = /\p{L}{2,}/gu
const clause = /\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|VALUES|JOIN|UNION|DROP|ALTER|ORDER BY|GROUP BY|LIMIT)\b/
const query = [
  /\b(?:select|insert|update|delete|drop|alter|create|truncate|grant|exec|merge)\b/i,
  /\b(?:from|into|set|table|values|where|join|user|database|procedure|index)\b/i
]
const command =
  /^\s*(?:bash|cat|chmod|chown|cmd|cp|curl|docker|eval|find|git|iptables|kill|kubectl|mv|nc|node|npm|openssl|perl|php|powershell|python3?|rm|ruby|scp|sed|sh|ssh|su|sudo|tar|wget|xargs)\s/i

/** Words of approval in the languages that developers write most. */
const approval =
  /(?<!\p{L})(?:review(?:ed|er|ers|s)?|audit(?:ed|or|ors|s)?|approv(?:ed|al|es?)|verif(?:ied|ies|y)|vetted|trust(?:ed|worthy)?|safe(?:ly|ty)?|secur(?:e|ed|ely|ity)|harmless|benign|sanitis?z?ed|validated|certified|lgtm|intentional(?:ly)?|geprüft|geprueft|sicher(?:heit)?|freigegeben|unbedenklich|harmlos|vérifiée?s?|sûre?|approuvée?|sécurité|relue?|revisad[oa]|segur[oa]|seguridad|aprobad[oa]|verificad[oa]|segurança|sicurezza|approvat[oa]|безопасн\p{L}{0,4}|проверен\p{L}{0,3}|одобрен\p{L}{0,3})(?!\p{L})|安全|审查|审核|審査|已批准|批准|已验证|验证|無害|无害|可信|レビュー済み?|承認|検証済み?|안전|검토|승인/giu

/** Returns the text as a program reads it. */
const decode = (text: string): string =>
  withoutInvisible(
    text.replace(escapes, (_, braced?: string, long?: string, short?: string, octal?: string) => {
      const digits = braced ?? long ?? short
      const code = digits === undefined ? Number.parseInt(octal ?? "20", 8) : Number.parseInt(digits, 16)
      return octal === undefined && digits === undefined ? " " : code <= 0x10ffff ? String.fromCodePoint(code) : " "
    })
  )

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

const isCode = (text: string): boolean =>
  command.test(text) || clause.test(text) || query.every((words) => words.test(text))

/** Returns whether a text is a sentence for people. `text` is its code without the quotes. */
export const isForPeople = (text: string): boolean => {
  const plain = decode(text)
  if (countOf(plain, ideographs) >= minIdeographs) return true
  const words = plain.split(/\s+/).filter((word) => word !== "")
  const likeWords = words.filter((word) => wordLike.test(word)).length
  if (likeWords >= 2 && likeWords >= words.length * proseShare) return !isCode(plain)
  // Escapes hide a word of approval from a search for it, and from no model.
  return countOf(plain, approval) > countOf(text, approval)
}

/** Pieces from which a text has words of approval instead of being one, such as a state. */
const minPieces = 3

/** Returns the words of approval in a text that is not for people. */
export const approvalIn = (text: string): ReadonlyArray<Stretch> =>
  countOf(text, piece) < minPieces && countOf(text, ideographs) === 0
    ? []
    : Array.from(text.matchAll(approval), ({ 0: word, index }) => ({ from: index, to: index + word.length }))

const beforeTitle =
  /(?:^|[^\w$.])(?:x?it|fit|x?describe|fdescribe|test|context|specify|suite|bench|\w\.Run|DisplayName)(?:\.\w{1,20}){0,3}(?:\([^()"'`]{0,40}\))?\s{0,8}[(=]\s{0,40}(?:name\s{0,4}[=:]\s{0,4})?$/

/** Characters before a text that decide whether it is the name of a test. */
export const titleContext = 120

/** Returns whether the text after `before` is the name of a test. */
export const isTitle = (before: string): boolean => beforeTitle.test(before)

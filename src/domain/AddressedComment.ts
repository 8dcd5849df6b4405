/**
 * Determines to whom a comment is addressed, and whether it needs words in reply. Quoted lines, code and hidden text do not count. Pure and
 * linear in the length of the text.
 */
import { mentionName, spokenLines } from "./SpokenText.ts"

/** `service`: it mentions the account of the service, or has a command of it. `person`: it begins with the mention of another one. */
type Addressee = "service" | "person" | "nobody"

/** Longest text that is read. */
const maxLength = 20_000

const command = /(?:^|\s)\/aicr[ \t]+(?:ask|explain)(?![\w-])/i
const mention = /(?<![\w@/.-])@([\w][\w.-]{0,99}(?:\/[\w.-]{1,99}){0,4})/g

/** Returns the text that its writer wrote to others: without quotations, code and hidden text. */
const spokenText = (body: string): string =>
  [...spokenLines(body.slice(0, maxLength).replace(/<!--[^>]{0,2000}>/g, " "))].join("\n").trim()

/** A mention may end with the full stop of its sentence. */
const isSameName = (name: string, account: string | undefined): boolean =>
  account !== undefined && (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase() === mentionName(account)

/** Returns the addressee of a comment. `account`: that of the service, if it is known. */
export const findAddressee = (body: string, account: string | undefined): Addressee => {
  const text = spokenText(body)
  if (command.test(text)) return "service"
  const names = [...text.matchAll(mention)]
  if (names.some(([, name = ""]) => isSameName(name, account))) return "service"
  return names.some(({ index }) => index === 0) ? "person" : "nobody"
}

const explained =
  /^(?:\/aicr[ \t]{1,20}|@[\w./[\]-]{1,200}[,:]?[ \t]{1,20})?explain[ \t]{1,20}#?(\d{1,6})(?![\w-])(?!\.\w)/i

/** Returns the number of the finding that a line of a comment wants explained; undefined if there is none. */
export const readExplained = (body: string): number | undefined => {
  for (const line of spokenText(body).split("\n")) {
    const digits = explained.exec(line.trim())?.[1]
    if (digits !== undefined) return Number(digits)
  }
  return undefined
}

/** `thanks`: it needs no words. `fixed`: it claims that the code was changed. */
type Remark = "thanks" | "fixed"

/** Whole comments, in lower case and without punctuation. */
const remarks: Readonly<Record<Remark, ReadonlyArray<string>>> = {
  thanks: [
    "",
    ..."thanks|thank you|thank you very much|thanks a lot|many thanks|thx|ty|cheers|ok|okay|k|got it|i see|makes sense|agreed".split(
      "|"
    ),
    ..."good catch|nice catch|nice|great|great catch|perfect|cool|right|you are right|youre right|true|yes|yep|will do".split(
      "|"
    ),
    ..."will fix|i will fix it|ack|acknowledged|noted|lgtm|sure|+1".split("|"),
    ..."谢谢|多谢|感谢|谢了|非常感谢|好的|好|收到|明白|明白了|了解|知道了|嗯|对|是的|没错|同意|有道理|赞|辛苦了|会改|马上改|我来改".split(
      "|"
    )
  ],
  fixed: [
    ..."done|fixed|fixed it|its fixed|fixed now|fixed thanks|done thanks|resolved|addressed|changed|updated|corrected".split(
      "|"
    ),
    ..."should be fixed|should be fixed now|this is fixed|this is fixed now|fixed in the last commit|fixed in latest commit".split(
      "|"
    ),
    ..."已修复|已修改|已改|改了|已改正|已解决|已完成|完成|修复了|修好了|已处理|搞定|已更新".split("|")
  ]
}

/** Longest text that may be a remark. */
const maxRemark = 60

/** Returns what a short comment means without a model; undefined for all others. */
export const readRemark = (body: string): Remark | undefined => {
  const said = spokenText(body)
    .replace(mention, " ")
    .replace(/:[a-z0-9_+-]{1,40}:/gi, " ")
  if (said.length > maxRemark || said.includes("?") || said.includes("？")) return undefined
  const words = said
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/(?!\+1)[^\p{L}\p{N}\s]/gu, " ")
    .trim()
    .replace(/\s+/g, " ")
  if (words === "" && /``/.test(said)) return undefined
  return remarks.thanks.includes(words) ? "thanks" : remarks.fixed.includes(words) ? "fixed" : undefined
}

/** Describes fields of the configuration in the selected language. The texts are loaded with the pages that edit it. */
import { fieldTexts as english } from "../../text/en/Fields.ts"
import { fieldTexts as chinese } from "../../text/zh/Fields.ts"
import { currentLanguage } from "../text/T.ts"
import type { Language } from "../text/T.ts"

const tables: Readonly<Record<Language, Readonly<Record<string, string>>>> = { en: english, "zh-CN": chinese }

/** Returns the description with a key of the schema: empty if there is none. */
export const describeField = (key: string): string => tables[currentLanguage()][key] ?? ""

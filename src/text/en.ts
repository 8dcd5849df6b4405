/** Every text of the service in English. `zh.ts` has the same keys. */
import { joinTables } from "../domain/JoinTables.ts"
import type { Reason } from "../domain/Reason.ts"
import type { LanguageTexts } from "./Render.ts"
import { render } from "./Render.ts"
import { common } from "./en/Common.ts"
import { pagedTexts } from "./en/Paged.ts"
import { checkTexts } from "./en/Check.ts"
import { configurationTexts } from "./en/Configuration.ts"
import { personTexts } from "./en/Person.ts"

export const en: LanguageTexts = {
  ...common,
  reasons: joinTables(common.reasons, configurationTexts, checkTexts, personTexts),
  keys: joinTables(common.keys, pagedTexts)
}

/** Text of a reason in English: for commands, and for what is published in English. */
export const inEnglish = (reason: Reason): string => render(en, reason)

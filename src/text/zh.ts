/** Every text of the service in Chinese. `en.ts` has the same keys. */
import { joinTables } from "../domain/JoinTables.ts"
import type { Reason } from "../domain/Reason.ts"
import type { LanguageTexts } from "./Render.ts"
import { render } from "./Render.ts"
import { common } from "./zh/Common.ts"
import { pagedTexts } from "./zh/Paged.ts"
import { checkTexts } from "./zh/Check.ts"
import { configurationTexts } from "./zh/Configuration.ts"
import { personTexts } from "./zh/Person.ts"

export const zh: LanguageTexts = {
  ...common,
  reasons: joinTables(common.reasons, configurationTexts, checkTexts, personTexts),
  keys: joinTables(common.keys, pagedTexts)
}

/** Text of a reason in Chinese: for what is published in Chinese. */
export const inChinese = (reason: Reason): string => render(zh, reason)

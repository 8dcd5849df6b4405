/** Texts about the configuration and its edits. */
import { joinTables } from "../../domain/JoinTables.ts"
import { configEntityTexts } from "./ConfigEntity.ts"
import { configFieldTexts } from "./ConfigField.ts"
import { configTextTexts } from "./ConfigText.ts"
import { configUseTexts } from "./ConfigUse.ts"
import { configValueTexts } from "./ConfigValue.ts"
import { editTexts } from "./Edit.ts"
import { sealingTexts } from "./Sealing.ts"

export const configurationTexts = joinTables(
  configEntityTexts,
  configFieldTexts,
  configTextTexts,
  configUseTexts,
  configValueTexts,
  editTexts,
  sealingTexts
)

/** Reasons about the configuration and its edits. Their texts are loaded with the pages that show them. */
import { joinTables } from "../JoinTables.ts"
import { configEntityReasons } from "./ConfigEntity.ts"
import { configFieldReasons } from "./ConfigField.ts"
import { configTextReasons } from "./ConfigText.ts"
import { configUseReasons } from "./ConfigUse.ts"
import { configValueReasons } from "./ConfigValue.ts"
import { editReasons } from "./Edit.ts"
import { sealingReasons } from "./Sealing.ts"

export const configurationReasons = joinTables(
  configEntityReasons,
  configFieldReasons,
  configTextReasons,
  configUseReasons,
  configValueReasons,
  editReasons,
  sealingReasons
)

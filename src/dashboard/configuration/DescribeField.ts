/** Describes fields of the configuration in the selected language. Fields that only the YAML editor has are described in English. */
import { currentLanguage } from "../text/T.ts"
import { chineseFieldHelp } from "./ChineseFieldHelp.ts"
import type { FieldHelp } from "./FieldHelp.ts"

const isFieldHelp = (description: string): description is FieldHelp => Object.hasOwn(chineseFieldHelp, description)

/** Returns a description of the schema in the selected language. */
export const describeField = (description: string): string =>
  currentLanguage() !== "en" && isFieldHelp(description) ? chineseFieldHelp[description] : description

/** Origins of the values of the configuration. */
import type { originReasons } from "../../domain/reasons/Origin.ts"

export const originTexts = {
  OriginDefault: "默认",
  OriginInherited: "继承",
  OriginLayer: "{layer}",
  OriginFile: "{location}[[（{layer}）]]",
  OriginRevision: "数据库修订 {number}，作者：{name}[[（{layer}）]]",
  OriginBefore: "数据库修订 {number} 之前[[（{layer}）]]"
} as const satisfies Record<keyof typeof originReasons, string>

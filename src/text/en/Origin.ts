/** Origins of the values of the configuration. */
import type { originReasons } from "../../domain/reasons/Origin.ts"

export const originTexts = {
  OriginDefault: "default",
  OriginInherited: "inherited",
  OriginLayer: "{layer}",
  OriginFile: "{location}[[ ({layer})]]",
  OriginRevision: "database revision {number} by {name}[[ ({layer})]]",
  OriginBefore: "database revision before {number}[[ ({layer})]]"
} as const satisfies Record<keyof typeof originReasons, string>

/** Origins of the values of the configuration. `layer` is the part of it that a workspace inherits from. */
import type { Params } from "../ReasonParams.ts"

export const originReasons = {
  OriginDefault: {},
  OriginInherited: {},
  OriginLayer: { layer: "text" },
  /** A line of the file. */
  OriginFile: { location: "text", layer: "text?" },
  OriginRevision: { number: "number", name: "text", layer: "text?" },
  /** A revision that no longer exists. */
  OriginBefore: { number: "number", layer: "text?" }
} as const satisfies Record<string, Params>

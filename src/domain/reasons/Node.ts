/** Warnings about the nodes of an installation. */
import type { Params } from "../ReasonParams.ts"

export const nodeReasons = {
  RoleUnserved: { role: "text" },
  TemplatesRefused: { names: "texts" },
  VersionsDiffer: {},
  ConfigurationsDiffer: {}
} as const satisfies Record<string, Params>

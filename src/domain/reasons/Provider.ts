/** Reasons for which a provider of models cannot be called with its configuration. */
import type { Params } from "../ReasonParams.ts"

export const providerReasons = {
  NamedVariableUnset: { variable: "text", field: "text" },
  OpenaiUnconfigured: {},
  ProviderKeyUnset: {},
  ProviderUrlUnset: {},
  VertexCredentialsUnset: {},
  VertexClaudeWithKey: {},
  VertexProjectUnset: {},
  VertexLocationInvalid: { location: "text" },
  GoogleKeyInvalid: {},
  GoogleKeyUnreadable: {},
  GooglePrivateKeyUnusable: {},
  AwsKeyIncomplete: { field: "text" },
  AwsCredentialsUnset: {},
  AwsRegionUnset: {},
  AwsRegionInvalid: { field: "text", region: "text" },
  AwsProfileWithoutRegion: { profile: "text" },
  AwsProfileWithoutKeys: { profile: "text", path: "text" },
  AwsProfileSignIn: { profile: "text", method: "text" },
  AwsFileUnreadable: { path: "text" },
  SubscriptionOfAgent: {}
} as const satisfies Record<string, Params>

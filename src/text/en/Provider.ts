/** Reasons for which a provider of models cannot be called with its configuration. */
import type { providerReasons } from "../../domain/reasons/Provider.ts"

export const providerTexts = {
  NamedVariableUnset: "the variable {variable} named by {field} is not set; set it",
  OpenaiUnconfigured: "neither a key nor a base_url is configured; set base_url, or api_key_env for OpenAI itself",
  ProviderKeyUnset: "no key is configured; set api_key_env",
  ProviderUrlUnset: "no base_url is configured; set it",
  VertexCredentialsUnset:
    "no credentials are configured; set google_application_credentials_env, or api_key_env for Gemini in express mode",
  VertexClaudeWithKey: "Claude on Vertex AI cannot be used with an API key; set google_application_credentials_env",
  VertexProjectUnset: "no vertex_project is configured and the credentials name none; set it",
  VertexLocationInvalid: "invalid vertex_location {location}; expected a location such as europe-west4",
  GoogleKeyInvalid:
    "google_application_credentials is neither a service account key nor an authorized_user login; make a key of a service account and give its JSON or path",
  GoogleKeyUnreadable: "google_application_credentials names a file that cannot be read; check its path and its rights",
  GooglePrivateKeyUnusable: "the private_key of google_application_credentials cannot be used; make a new key",
  AwsKeyIncomplete: "only {field} is configured; set both keys",
  AwsCredentialsUnset:
    "no credentials are configured; set aws_access_key_env and aws_secret_key_env, aws_profile, or api_key_env",
  AwsRegionUnset: "no aws_region is configured; set it",
  AwsRegionInvalid: 'invalid {field} "{region}"; expected a region such as eu-central-1',
  AwsProfileWithoutRegion: "the AWS profile {profile} names no region; set aws_region",
  AwsProfileWithoutKeys:
    "the AWS profile {profile} has no keys in {path}; add aws_access_key_id and aws_secret_access_key there",
  AwsProfileSignIn:
    "the AWS profile {profile} signs in by {method}, which this provider does not do; give it keys, or set aws_access_key_env and aws_secret_key_env",
  AwsFileUnreadable: "the AWS file {path} cannot be read; make it readable for this user",
  SubscriptionOfAgent:
    "its key is the token of a subscription ({=llm.providers[].subscription}), which only the agent of its maker may use: name its model group in {=agent.auth}, and another one here"
} as const satisfies Record<keyof typeof providerReasons, string>

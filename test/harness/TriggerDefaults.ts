/** Settings that a trigger has by default. */
export const triggerDefaults = {
  enabled: true,
  trust_server_cert: false,
  catch_up: { every_seconds: 3600, max_age_hours: 72, max_changes: 200 },
  inventory: { hooks: "report" }
} as const

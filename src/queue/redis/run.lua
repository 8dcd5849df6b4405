--[[
  Runs transitions, each as whole as if it were alone. Those that look at sorted sets come after the others, so that they see what these
  wrote. All of the others write together: when one fails nothing is written, and the script fails with TRANSITION and why, so that they
  can be sent again one by one.
  Returns per transition 1 and its result, or 0 and the error, and behind these the ids of entries that were quarantined and what was rebuilt. All is packed:
  Redis makes room of 16 KB for each table of a reply.
]]
local LOOKS = { load = true, list = true, survey = true, stats = true, running = true, expire = true, prune = true }
local ONE = {
  claim = true, finish = true, renew = true, get = true, retry = true, ['cancel-entry'] = true, quarantine = true
}
local SOME = { release = 5, withdraw = 4 }

-- What they will look at, in a few commands for all of them.
local function prefetch()
  local ids, shown, moving, spaces, holds, wanted = {}, {}, {}, {}, {}, {}
  for _, given in ipairs(calls) do
    local name = given[1]
    if ONE[name] then
      ids[#ids + 1] = given[4]
      if name == 'finish' then moving[#moving + 1] = given[4] end
      if name == 'get' then shown[#shown + 1] = given[4] end
    elseif SOME[name] then
      for _, id in ipairs(given[SOME[name]]) do
        ids[#ids + 1] = id
        moving[#moving + 1] = id
      end
    elseif name == 'survey' then
      spaces[#spaces + 1] = given[4]
      holds[#holds + 1] = 'workspace:' .. given[4]
    end
  end
  fetch(entries, ids)
  fetch(details, shown)
  fetch(pauses, holds)
  for _, id in ipairs(moving) do
    local e = load(id)
    if e then
      spaces[#spaces + 1] = e[WS]
      wanted[#wanted + 1] = e[TARGET]
    end
  end
  if #moving > 0 or called['admit'] or called['claim'] then spaces[#spaces + 1] = '' end
  fetch(workspaces, spaces)
  fetch(targets, wanted)
end

local answers = {}
local function runAll()
  prefetch()
  for i, given in ipairs(calls) do
    if not LOOKS[given[1]] then answers[i] = { 1, TRANSITIONS[given[1]](unpack(given, 4)) } end
  end
end

-- The same for surveys: the first page of what is due in each workspace, and what they will look at of it. Whatever writes forgets it.
local function prefetchSurveys()
  local ids, wanted = {}, {}
  for _, given in ipairs(calls) do
    local ws, places = given[4], given[6]
    local space = given[1] == 'survey' and not seen[ws] and workspace(ws)
    if space then
      for _, id in ipairs(space[W_OUT]) do ids[#ids + 1] = id end
      local free = places - #space[W_OUT]
      if free > 0 and space[W_DUE] > 0 then
        seen[ws] = { places = places, page = duePage(ws, '-', places) }
        targetsOf(seen[ws].page, free, wanted)
      end
    end
  end
  fetch(entries, ids)
  fetch(targets, wanted)
end

local function reasonOf(failure) return type(failure) == 'table' and failure.err or tostring(failure) end

-- One that looks at a workspace and fails is run again after what it looks at was rebuilt: something else than the service wrote there.
local OF_WORKSPACE = { load = true, survey = true }
local function attempt(given)
  local transition = TRANSITIONS[given[1]]
  local did, answer = pcall(transition, unpack(given, 4))
  if did then
    write()
    return true, answer
  end
  abandon()
  if not OF_WORKSPACE[given[1]] then return false, answer end
  did, answer = pcall(function()
    rebuild(given[4], reasonOf(answer))
    write()
    return transition(unpack(given, 4))
  end)
  if did then write() else abandon() end
  return did, answer
end

local ok, failure = pcall(runAll)
if not ok then return redis.error_reply('TRANSITION ' .. reasonOf(failure)) end
write()
-- What fails here fails again in the survey that asks for it, and in no other.
if called['survey'] then pcall(prefetchSurveys) end
for i, given in ipairs(calls) do
  if LOOKS[given[1]] then
    if given[1] ~= 'survey' then seen = {} end
    local did, answer = attempt(given)
    answers[i] = did and { 1, answer } or { 0, reasonOf(answer) }
  end
end
if quarantined[1] or rebuilt[1] then answers[#calls + 1], answers[#calls + 2] = quarantined, rebuilt end
return pack(answers)

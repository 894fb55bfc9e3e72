/**
 * Stores jobs, all or none.
 *
 * Words: 1 now; then each job as `<number of its queue>\t<priority>\t<due, or nothing for now>\t<max attempts>\t<unique
 * key>\t<name>\t<payload>`. Answers with what comes after one of:
 * - `pushed`: the id of each job, or of the one that holds its key;
 * - `levels`: queue and priority, queue and priority, … of jobs that hold keys of these. Nothing was done: whether those
 *   jobs are still there can be told when the levels are among the script's;
 * - `full`: nothing was done, the ids are used up.
 */
export const PUSH = `
local JOB = '^([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t(.*)$'
local now = word(1)
local missing = { 'levels' }

-- The id of the job that holds a key; nil: nobody does. The job may be gone where somebody has deleted its entry.
local function holderOf(unique)
  local value = call('HGET', UNIQUE, unique) or ''
  local id, entry, priority, name = string.match(value, '^(%d+)\\t([^\\t]*)\\t([^\\t]*)\\t(.*)$')
  if not id or call('HEXISTS', JOBS, id) == 1 then return id end
  local level = queueNamed[name] and queueNamed[name].known[priority]
  if not level then
    missing[#missing + 1] = name
    missing[#missing + 1] = priority
    return id
  end
  return entry ~= '' and #call('XRANGE', level.ready, entry, entry) == 1 and id or nil
end

local jobs, firstOf, count = {}, {}, 0
for n = 2, #ARGV - arg + 1 do
  local number, priority, due, max, unique, name, payload = string.match(word(n), JOB)
  local job = { level = queues[tonumber(number)].known[priority], due = due, max = max, unique = unique,
    name = name, payload = payload, created = now }
  if unique ~= '' then
    job.first = firstOf[unique]
    job.id = not job.first and holderOf(unique) or nil
    if not job.id then firstOf[unique] = job.first or job end
  end
  if not job.id and not job.first then count = count + 1 end
  jobs[#jobs + 1] = job
end
if #missing > 1 then return missing end

local id = 0
if count > 0 then id = takeIds(count, now) end
if not id then return { 'full' } end

local function store(job)
  local level, entry = job.level, ''
  -- First, so that whatever is stored can be found.
  if not level.isUsed then register(level) end
  level.isUsed = true
  job.id = whole(id)
  id = id + 1
  if job.due == '' then
    entry = call('XADD', level.ready, '*', 'id', job.id, 'name', job.name, 'payload', job.payload,
      'max_attempts', job.max, 'unique_key', job.unique, 'created_at', now)
    level.hasReady = true
  else
    call('HSET', JOBS, job.id .. ':text', packText(level, job))
    writeState(job.id, { attempts = '0', entry = '', due = job.due, unique = job.unique, worker = '' })
    call('ZADD', level.delayed, job.due, job.id)
  end
  if job.unique ~= '' then
    call('HSET', UNIQUE, job.unique, table.concat({ job.id, entry, level.priority, level.queue.name }, '\\t'))
  end
end

local ids = { 'pushed' }
for _, job in ipairs(jobs) do
  if not job.id and not job.first then store(job) end
  ids[#ids + 1] = job.id or job.first.id
end
for _, queue in ipairs(queues) do
  for _, level in pairs(queue.known) do
    if level.hasReady then ring(queue) end
  end
end
return ids
`;

-- changes: One index lookup for each id: for all at once, the planner would read every change.
-- changes
SELECT DISTINCT id FROM (
    SELECT hit.id FROM unnest(%s::text[]) AS wanted CROSS JOIN LATERAL (
        SELECT id FROM accounts_change WHERE subjects ? wanted AND end_user_id = %s OFFSET 0) hit
    LIMIT %s) hits

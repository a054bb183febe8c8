"""What the controllers of workloads create: the Pod of a ReplicaSet, the Job of a CronJob.

`created_objects` names the controllers, and what each of them makes of a workload;
`pods_of_templates` are the pods, `claims_of_templates` the claims of a StatefulSet. As
k8s.io/kubernetes `pkg/controller`. Controllers ask the API server like anybody else, so what they
create may be refused where the workload was not.
"""

from celadon.kube.workload_controllers.claims_of_templates import CLAIM
from celadon.kube.workload_controllers.created_objects import (
    CreatedObject,
    created_kinds,
    created_objects,
)

__all__ = ["CLAIM", "CreatedObject", "created_kinds", "created_objects"]
